//! What profiles call a closure: by type, description and module, as GHC does.

use gclab_core::closure::{Kind, TypeInfo};
use gclab_core::flags::Breakdown;

/// What one breakdown calls closures with this info table. Retainers go by their description, and roots have names of their own.
pub fn name(info: &TypeInfo, breakdown: Breakdown) -> String {
    match breakdown {
        Breakdown::ClosureType => closure_type(info),
        Breakdown::Type => type_name(info),
        Breakdown::Module => info.module.to_owned(),
        _ => description(info),
    }
}

/// `-hT`: `package:Module.Constructor`, or the kind of closure.
pub fn closure_type(info: &TypeInfo) -> String {
    if info.kind != Kind::Constr {
        return info.kind.name().to_owned();
    }
    let (package, module) = info.module.split_once("::").unwrap_or((info.module, ""));
    let module = module.replace("::", ".");
    let dot = if module.is_empty() { "" } else { "." };
    format!("{package}:{module}{dot}{}", info.name)
}

/// `-hd`: the name of data, or the kind of closure.
pub fn description(info: &TypeInfo) -> String {
    match info.kind {
        Kind::Constr | Kind::MutConstr => info.name.to_owned(),
        kind => kind.name().to_owned(),
    }
}

/// `-hy`: the type.
pub fn type_name(info: &TypeInfo) -> String {
    info.type_name()
}
