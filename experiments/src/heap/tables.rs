//! `--csv FOLDER`: the objects, references and classes as tables for SQL, with the names of
//! Perfetto's columns where it has them.

use std::fs;
use std::path::Path;

use gclab_heap_traverse::analysis::Analysis;

use super::words::{name, way};

/// Writes `heap_graph_object.csv`, `heap_graph_reference.csv` and `heap_graph_class.csv`.
///
/// # Errors
/// If a file cannot be written.
pub(super) fn write(folder: &Path, analysis: &Analysis<'_>) -> Result<(), csv::Error> {
    fs::create_dir_all(folder)?;
    let table = |name: &str| csv::Writer::from_path(folder.join(format!("heap_graph_{name}.csv")));
    let (mut objects, mut references, mut classes) = (table("object")?, table("reference")?, table("class")?);
    objects.write_record([
        "id",
        "type_id",
        "self_size",
        "reachable",
        "object_data",
        "retained_size",
        "dominator_id",
    ])?;
    references.write_record(["owner_id", "owned_id", "field_name", "field_type_name"])?;
    classes.write_record(["id", "name", "kind"])?;
    let (snapshot, of_nodes) = (analysis.snapshot(), analysis.classes().of_nodes());
    let id = |node: u32| snapshot.node(node).id().unwrap_or_default();
    for node in snapshot.nodes() {
        let at = node.ordinal();
        let holder = analysis.holder(at);
        objects.serialize((
            id(at),
            of_nodes[at as usize],
            node.self_size(),
            u8::from(at == 0 || holder.is_some()),
            node.label(),
            analysis.retained(at),
            holder.map(id),
        ))?;
        for edge in node.edges() {
            let target = edge.target().ordinal();
            references.serialize((
                id(at),
                id(target),
                way(analysis, edge).unwrap_or_default(),
                edge.type_name(),
            ))?;
        }
    }
    for class in 0..analysis.classes().len() as u32 {
        let figures = analysis.classes().figures(class);
        let kind = snapshot.node(figures.first).type_name();
        classes.serialize((class, name(analysis, figures.first), kind))?;
    }
    for table in [&mut objects, &mut references, &mut classes] {
        table.flush()?;
    }
    Ok(())
}
