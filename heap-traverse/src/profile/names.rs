//! The names of closures in profiles: by type, description and module, or by cost centres, as in
//! GHC.

use gclab_core::closure::TypeInfo;
use gclab_core::config::Breakdown;
use gclab_core::profile::{CostCentre, StackId};

/// The name of closures with this info table in one breakdown. Retainers are named by their
/// description. Roots have their own names.
pub(super) fn name(info: &TypeInfo, breakdown: Breakdown) -> String {
    match breakdown {
        Breakdown::ClosureType => closure_type(info),
        Breakdown::Type => type_name(info),
        Breakdown::Module => info.module.to_owned(),
        _ => description(info),
    }
}

/// `-hT`: `package:Module.Constructor`, or the kind of closure.
pub fn closure_type(info: &TypeInfo) -> String {
    if !info.kind.is_data() {
        return info.kind.name().to_owned();
    }
    let (package, module) = info.module.split_once("::").unwrap_or((info.module, ""));
    let module = module.replace("::", ".");
    let dot = if module.is_empty() { "" } else { "." };
    format!("{package}:{module}{dot}{}", info.name)
}

/// `-hd`: the name of data, or the kind of closure.
pub fn description(info: &TypeInfo) -> String {
    if info.kind.is_data() {
        info.name
    } else {
        info.kind.name()
    }
    .to_owned()
}

/// `-hy`: the name of the type.
pub fn type_name(info: &TypeInfo) -> String {
    info.type_name()
}

/// Characters cut off a stack's name that is too long for `-L`: room for the dots, and one more (as
/// in GHC).
const CUT: usize = 4;

/// `-hc`: the number of a stack of cost centres and its labels, the innermost first, cut to the
/// length that `-L` allows.
pub(super) fn stack_name(stack: StackId, centres: &[CostCentre], length: usize) -> String {
    if centres.is_empty() {
        return "MAIN".to_owned();
    }
    let labels: Vec<_> = centres.iter().map(|centre| centre.label).collect();
    let mut labels = labels.join("/");
    if labels.chars().count() > length {
        labels = labels.chars().take(length.saturating_sub(CUT)).collect();
        labels += "...";
    }
    format!("({}){labels}", stack.0)
}

/// The name of a whole stack, for tables: `Module.label` of each cost centre, the innermost first.
pub(super) fn full_stack_name(centres: &[CostCentre]) -> String {
    let names = centres
        .iter()
        .map(|centre| format!("{}.{}", centre.module, centre.label));
    names.collect::<Vec<_>>().join(",")
}
