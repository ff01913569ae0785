//! The code that `#[derive(Closure)]` writes.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Data, DeriveInput, Error, Field, Fields, Ident, LitStr, Result, Type, Visibility};

/// Returns the items for one struct.
pub fn expand(input: &DeriveInput) -> Result<TokenStream> {
    let fields = named_fields(input)?;
    let closure = Struct {
        name: &input.ident,
        visibility: &input.vis,
        shown: shown_name(input)?,
        idents: fields
            .iter()
            .map(|field| field.ident.as_ref().expect("named"))
            .collect(),
        types: fields.iter().map(|field| &field.ty).collect(),
    };
    let (layout, init, access) = (closure.layout(), closure.init(), closure.access());
    Ok(quote! { #layout #init #access })
}

struct Struct<'a> {
    name: &'a Ident,
    visibility: &'a Visibility,
    shown: String,
    idents: Vec<&'a Ident>,
    types: Vec<&'a Type>,
}

impl Struct<'_> {
    /// The info table, and the place of each field.
    fn layout(&self) -> TokenStream {
        let Struct { name, shown, types, .. } = self;
        let count = types.len();
        quote! {
            const _: () = {
                static INFO: ::gclab_core::closure::TypeInfo = ::gclab_core::closure::TypeInfo::fixed(
                    if #(<#types as ::gclab_core::closure::Field>::MUTABLE ||)* false {
                        ::gclab_core::closure::Kind::MutConstr
                    } else {
                        ::gclab_core::closure::Kind::Constr
                    },
                    #shown,
                    ::core::module_path!(),
                    #name::__POINTERS,
                    #count,
                )
                .of_type(::core::stringify!(#name));
                // SAFETY: the initialiser writes, and the accessors read, field by field where
                // `__PLACE` says; the table counts the same fields.
                unsafe impl ::gclab_core::closure::Closure for #name {
                    const INFO: &'static ::gclab_core::closure::TypeInfo = &INFO;
                }
                // SAFETY: the table is this type's own.
                unsafe impl ::gclab_core::mutator::Distinct for #name {}
            };
            #[doc(hidden)]
            impl #name {
                const __POINTER: [::core::primitive::bool; #count] = [#(<#types as ::gclab_core::closure::Field>::POINTER),*];
                const __POINTERS: ::core::primitive::usize = ::gclab_core::closure::layout::pointers(&Self::__POINTER);
                const __PLACE: [::core::primitive::usize; #count] = ::gclab_core::closure::layout::places(&Self::__POINTER);
            }
        }
    }

    /// The initial value, and the function that makes it.
    fn init(&self) -> TokenStream {
        let Struct {
            name,
            visibility,
            idents,
            types,
            ..
        } = self;
        let init = format_ident!("{name}Init");
        let index = 0..types.len();
        let words = types.len() + 1;
        let doc = format!("The initial value of a [`{name}`].");
        quote! {
            #[doc = #doc]
            #[must_use = "an initial value is nothing until it is allocated"]
            #visibility struct #init<'m, 'h> {
                #(#idents: <#types as ::gclab_core::closure::Field>::Init<'m, 'h>,)*
                __brand: ::core::marker::PhantomData<(&'m (), fn(&'h ()) -> &'h ())>,
            }
            impl ::core::fmt::Debug for #init<'_, '_> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    f.write_str(::core::stringify!(#init))
                }
            }
            impl #name {
                /// The initial value with these fields.
                #[inline(always)]
                #[allow(clippy::new_ret_no_self, clippy::too_many_arguments)]
                #visibility fn new<'m, 'h>(
                    #(#idents: <#types as ::gclab_core::closure::Field>::Init<'m, 'h>),*
                ) -> #init<'m, 'h> {
                    #init { #(#idents,)* __brand: ::core::marker::PhantomData }
                }
            }
            // SAFETY: `write` puts each field at its place, and there is one place for each word of
            // payload.
            unsafe impl<'m, 'h> ::gclab_core::mutator::Init<'h> for #init<'m, 'h> {
                type Object = #name;
                const WORDS: ::core::primitive::usize = #words;
                #[inline(always)]
                unsafe fn write(self, payload: *mut ::core::primitive::u64) {
                    #(
                        // SAFETY: the caller provides room for all fields.
                        unsafe {
                            payload.add(const { #name::__PLACE[#index] })
                                .write(<#types as ::gclab_core::closure::Field>::encode(self.#idents))
                        };
                    )*
                }
            }
        }
    }

    /// The trait that reads and writes fields.
    fn access(&self) -> TokenStream {
        let Struct {
            name,
            visibility,
            idents,
            types,
            ..
        } = self;
        let fields = format_ident!("{name}Fields");
        let reads: Vec<_> = (0..types.len()).map(|i| self.read(i)).collect();
        let writes: Vec<_> = (0..types.len())
            .filter(|&i| is_mut(types[i]))
            .map(|i| self.write(i))
            .collect();
        let (write_heads, write_bodies): (Vec<_>, Vec<_>) = writes.into_iter().unzip();
        let docs = idents.iter().map(|ident| format!("Reads field `{ident}`."));
        let doc = format!("Reads and writes the fields of a [`{name}`].");
        quote! {
            #[doc = #doc]
            #[allow(dead_code)]
            #visibility trait #fields<'m, 'h>: ::core::marker::Copy {
                #(
                    #[doc = #docs]
                    fn #idents<__M: ::gclab_core::mutator::MutatorKind>(
                        self,
                        m: &::gclab_core::mutator::NoGc<'h, __M>,
                    ) -> <#types as ::gclab_core::closure::Field>::View<'m, 'h>;
                )*
                #(#write_heads;)*
            }
            impl<'m, 'h> #fields<'m, 'h> for ::gclab_core::mutator::Gc<'m, 'h, #name> {
                #(#reads)*
                #(#[inline(always)] #write_heads { #write_bodies })*
            }
        }
    }

    fn read(&self, index: usize) -> TokenStream {
        let (name, ident, ty) = (self.name, self.idents[index], self.types[index]);
        quote! {
            #[inline(always)]
            fn #ident<__M: ::gclab_core::mutator::MutatorKind>(
                self,
                m: &::gclab_core::mutator::NoGc<'h, __M>,
            ) -> <#ty as ::gclab_core::closure::Field>::View<'m, 'h> {
                // SAFETY: the place belongs to a field of this type. It holds a word that the
                // type's `encode` returned, or that a collection put there.
                unsafe {
                    <#ty as ::gclab_core::closure::Field>::decode(
                        self.read_word::<__M, { <#ty as ::gclab_core::closure::Field>::MUTABLE }>(m, const { #name::__PLACE[#index] }),
                    )
                }
            }
        }
    }

    fn write(&self, index: usize) -> (TokenStream, TokenStream) {
        let (name, ident, ty) = (self.name, self.idents[index], self.types[index]);
        let set = format_ident!("set_{}", ident.to_string().trim_start_matches("r#"));
        let doc = format!("Makes field `{ident}` point to `value`.");
        let head = quote! {
            #[doc = #doc]
            fn #set<__M: ::gclab_core::mutator::MutatorKind>(
                self,
                m: &::gclab_core::mutator::NoGc<'h, __M>,
                value: ::core::option::Option<::gclab_core::mutator::Gc<'_, 'h, <#ty as ::gclab_core::closure::MutField>::Target>>,
            )
        };
        let body = quote! {
            // SAFETY: the place belongs to a mutable pointer field, and `value` has the field's
            // type.
            unsafe { self.write_pointer(m, const { #name::__PLACE[#index] }, value) }
        };
        (head, body)
    }
}

/// Whether a field's type is written as `Mut<...>`. Such a field gets a setter. (Another type of
/// that name fails to compile, since it is no `MutField`.)
fn is_mut(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if path.path.segments.last().is_some_and(|segment| segment.ident == "Mut"))
}

fn named_fields(input: &DeriveInput) -> Result<Vec<&Field>> {
    if !input.generics.params.is_empty() {
        return Err(Error::new_spanned(
            &input.generics,
            "closure types have no parameters: one info table describes one type",
        ));
    }
    match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(fields) => fields.named.iter().map(readable).collect(),
            Fields::Unit => Ok(Vec::new()),
            Fields::Unnamed(fields) => Err(Error::new_spanned(
                fields,
                "fields need names: accessors are named after them",
            )),
        },
        _ => Err(Error::new_spanned(
            &input.ident,
            "only structs are closures; use a struct per constructor and `Any` for their sum",
        )),
    }
}

/// The methods of every `Gc`. They come before methods of the traits that this derive writes.
const METHODS_OF_GC: [&str; 5] = ["info", "erase", "to_word", "read_word", "write_pointer"];

/// Returns the field if its accessor can be called, and if it has no attribute that the derive
/// would ignore.
fn readable(field: &Field) -> Result<&Field> {
    if let Some(attribute) = field
        .attrs
        .iter()
        .find(|attribute| attribute.path().is_ident("closure"))
    {
        return Err(Error::new_spanned(attribute, "`#[closure(...)]` belongs on the struct"));
    }
    let ident = field.ident.as_ref().expect("named");
    if METHODS_OF_GC.iter().any(|method| ident == method) {
        return Err(Error::new_spanned(
            ident,
            format!("every `Gc` has a method `{ident}`: the field could not be read; give it another name"),
        ));
    }
    Ok(field)
}

/// The name that profiles show: that of `#[closure(name = "...")]`, or the struct's.
fn shown_name(input: &DeriveInput) -> Result<String> {
    let mut name = input.ident.to_string();
    for attribute in input
        .attrs
        .iter()
        .filter(|attribute| attribute.path().is_ident("closure"))
    {
        attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("name") {
                return Err(meta.error("unknown key: `name = \"...\"` is the only one"));
            }
            name = meta.value()?.parse::<LitStr>()?.value();
            Ok(())
        })?;
    }
    Ok(name)
}
