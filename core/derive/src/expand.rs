//! The code that `#[derive(Closure)]` writes.
//!
//! The code contains `unsafe`, and names from the program. Each name has to mean the same in all
//! places. Two rules see to that:
//!
//! - The type of a field is written once, as an alias beside the struct. All other code uses the
//!   alias. So a macro that stands for a type is expanded once, and `Self` means nothing.
//! - The code's own scopes define no name that a type, a trait or a method may have. It has
//!   lifetimes and no type parameters (a parameter is `impl Trait`), and it refers to its own
//!   definitions by full paths. The names beside the struct (aliases, `TreeInit`, `TreeFields`) are
//!   items. A second item of such a name is an error of the compiler, never another meaning.
//!
//! `docs/safety.md` has the one assumption that remains.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Error, Field, Fields, Ident, Index, LitStr, Result, Type, Visibility};

/// Returns the items for one struct.
pub(crate) fn expand(input: &DeriveInput) -> Result<TokenStream> {
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
        aliases: (0..)
            .zip(&fields)
            .map(|(i, field)| alias(&input.ident, i, &field.ty))
            .collect(),
    };
    let (names, layout, init, access) = (closure.names(), closure.layout(), closure.init(), closure.access());
    Ok(quote! { #names #layout #init #access })
}

struct Struct<'a> {
    name: &'a Ident,
    visibility: &'a Visibility,
    shown: String,
    idents: Vec<&'a Ident>,
    types: Vec<&'a Type>,
    /// The names used for the types.
    aliases: Vec<Ident>,
}

/// The name used for the type of field `index`. Messages about it show the type.
fn alias(name: &Ident, index: usize, ty: &Type) -> Ident {
    let span = ty.span().resolved_at(Span::call_site());
    format_ident!("__{}_{index}", name.unraw(), span = span)
}

impl Struct<'_> {
    /// The aliases: the one place where the types of fields are written.
    fn names(&self) -> TokenStream {
        let Struct { aliases, types, .. } = self;
        quote! {
            #(
                #[allow(non_camel_case_types)]
                type #aliases = #types;
            )*
        }
    }

    /// The info table, and the place of each field.
    fn layout(&self) -> TokenStream {
        let Struct {
            name, shown, aliases, ..
        } = self;
        let count = aliases.len();
        quote! {
            const _: () = {
                static INFO: ::gclab_core::closure::TypeInfo = ::gclab_core::closure::TypeInfo::fixed(
                    if #(<#aliases as ::gclab_core::closure::Field>::MUTABLE ||)* false {
                        ::gclab_core::closure::Kind::MutConstr
                    } else {
                        ::gclab_core::closure::Kind::Constr
                    },
                    #shown,
                    ::core::module_path!(),
                    <#name as ::gclab_core::closure::layout::Layout>::POINTERS,
                    #count,
                )
                .of_type(::core::stringify!(#name));
                // SAFETY: the initialiser writes, and the accessors read, field by field where
                // `PLACES` says; the table counts the same fields.
                unsafe impl ::gclab_core::closure::Closure for #name {
                    const INFO: &'static ::gclab_core::closure::TypeInfo = &INFO;
                }
                // SAFETY: the table is this type's own.
                unsafe impl ::gclab_core::mutator::Distinct for #name {}
            };
            impl ::gclab_core::closure::layout::Layout for #name {
                const POINTERS: ::core::primitive::usize = ::gclab_core::closure::layout::pointers(
                    &[#(<#aliases as ::gclab_core::closure::Field>::POINTER),*],
                );
                const PLACES: &'static [::core::primitive::usize] = &::gclab_core::closure::layout::places(
                    &[#(<#aliases as ::gclab_core::closure::Field>::POINTER),*],
                );
            }
        }
    }

    /// The place of field `index` in the payload.
    fn place(&self, index: usize) -> TokenStream {
        let name = self.name;
        quote! { const { <#name as ::gclab_core::closure::layout::Layout>::PLACES[#index] } }
    }

    /// The initial value, and the function that makes it.
    fn init(&self) -> TokenStream {
        let Struct {
            name,
            visibility,
            idents,
            aliases,
            ..
        } = self;
        let init = format_ident!("{name}Init");
        let words = aliases.len() + 1;
        let places = (0..aliases.len()).map(|i| self.place(i));
        let parts = (0..aliases.len()).map(Index::from);
        let doc = format!("The initial value of a [`{name}`].");
        quote! {
            #[doc = #doc]
            #[must_use = "an initial value is nothing until it is allocated"]
            #visibility struct #init<'m, 'h>(
                #(<#aliases as ::gclab_core::closure::Field>::Init<'m, 'h>,)*
                ::core::marker::PhantomData<(&'m (), fn(&'h ()) -> &'h ())>,
            );
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
                    #(#idents: <#aliases as ::gclab_core::closure::Field>::Init<'m, 'h>),*
                ) -> #init<'m, 'h> {
                    #init(#(#idents,)* ::core::marker::PhantomData)
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
                            payload.add(#places)
                                .write(<#aliases as ::gclab_core::closure::Field>::encode(self.#parts))
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
        let heads: Vec<_> = (0..types.len()).map(|i| self.read_head(i)).collect();
        let bodies = (0..types.len()).map(|i| self.read_body(i));
        let writes = (0..types.len()).filter(|&i| is_mut(types[i])).map(|i| self.write(i));
        let (write_heads, write_bodies): (Vec<_>, Vec<_>) = writes.unzip();
        let docs = idents.iter().map(|ident| format!("Reads field `{ident}`."));
        let doc = format!("Reads and writes the fields of a [`{name}`].");
        quote! {
            #[doc = #doc]
            #[allow(dead_code)]
            #visibility trait #fields<'m, 'h>: ::core::marker::Copy {
                #(#[doc = #docs] #heads;)*
                #(#write_heads;)*
            }
            impl<'m, 'h> #fields<'m, 'h> for ::gclab_core::mutator::Gc<'m, 'h, #name> {
                #(#[inline(always)] #heads { #bodies })*
                #(#[inline(always)] #write_heads { #write_bodies })*
            }
        }
    }

    fn read_head(&self, index: usize) -> TokenStream {
        let (ident, alias) = (self.idents[index], &self.aliases[index]);
        quote! {
            fn #ident(
                self,
                m: &::gclab_core::mutator::NoGc<'h, impl ::gclab_core::mutator::MutatorKind>,
            ) -> <#alias as ::gclab_core::closure::Field>::View<'m, 'h>
        }
    }

    fn read_body(&self, index: usize) -> TokenStream {
        let (alias, place) = (&self.aliases[index], self.place(index));
        quote! {
            // SAFETY: the place belongs to a field of this type. It holds a word that the
            // type's `encode` returned, or that a collection put there.
            unsafe {
                <#alias as ::gclab_core::closure::Field>::decode(
                    self.read_word::<
                        _,
                        { <#alias as ::gclab_core::closure::Field>::MUTABLE },
                        { <#alias as ::gclab_core::closure::Field>::POINTER },
                    >(m, #place),
                )
            }
        }
    }

    fn write(&self, index: usize) -> (TokenStream, TokenStream) {
        let (ident, alias, place) = (self.idents[index], &self.aliases[index], self.place(index));
        let set = format_ident!("set_{}", ident.to_string().trim_start_matches("r#"));
        let doc = format!("Makes field `{ident}` point to `value`.");
        let head = quote! {
            #[doc = #doc]
            fn #set(
                self,
                m: &::gclab_core::mutator::NoGc<'h, impl ::gclab_core::mutator::MutatorKind>,
                value: ::core::option::Option<::gclab_core::mutator::Gc<'_, 'h, <#alias as ::gclab_core::closure::MutField>::Target>>,
            )
        };
        let body = quote! {
            // SAFETY: the place belongs to a mutable pointer field, and `value` has the field's
            // type.
            unsafe { self.write_pointer(m, #place, value) }
        };
        (head, body)
    }
}

/// Whether a field's type is written as `Mut<...>`. Such a field gets a setter. (Another type of
/// that name fails to compile, since it is not a `MutField`.)
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

/// The name that profiles show: from `#[closure(name = "...")]`, or the struct's.
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

#[cfg(test)]
mod tests {
    use super::*;
    use proc_macro2::TokenTree;
    use syn::parse_quote;

    fn tokens(stream: TokenStream) -> Vec<String> {
        let each = |tree| match tree {
            TokenTree::Group(group) => tokens(group.stream()),
            tree => vec![tree.to_string()],
        };
        stream.into_iter().flat_map(each).collect()
    }

    fn expanded(input: &DeriveInput) -> Vec<String> {
        tokens(expand(input).expect("a struct of closures"))
    }

    #[test]
    fn the_type_of_a_field_is_written_once() {
        let code = expanded(&parse_quote! {
            struct Mixed { word: pick!(1), list: Option<Ptr<Wrapped>>, next: Mut<Linked> }
        });
        for ty in ["pick", "Wrapped", "Linked"] {
            assert_eq!(code.iter().filter(|token| *token == ty).count(), 1, "{ty}");
        }
    }

    /// A type parameter would hide a struct of its name from the code in its scope.
    #[test]
    fn no_code_has_a_type_parameter() {
        let code = expanded(&parse_quote! { struct Node { word: u64, next: Mut<Node> } });
        for (i, token) in code.iter().enumerate() {
            let next = match token.as_str() {
                "impl" => i + 1,
                "fn" | "struct" | "trait" => i + 2,
                _ => continue,
            };
            if code[next] == "<" {
                let parameters = code[next + 1..].iter().take_while(|&token| token != ">");
                assert_eq!(parameters.map(String::as_str).collect::<String>(), "'m,'h", "{token}");
            }
        }
    }
}
