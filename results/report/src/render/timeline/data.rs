//! The folded log as JSON, mostly lists of integers. `model.js` reads it.
//!
//! Times are differences from the previous number. A piece of a lane is its state and its length;
//! or, if it has several states, 9 more than the sum of 2^state over its states, and the time in
//! each. A pause is its distance from the end of the one before, its length, its generation and the
//! bytes copied; or, if it stands for several, 3 more than the sum of 2^generation, and for each of
//! these generations the number, the sum, the longest, and the bytes copied. A look at the heap, or
//! concurrent work, is its distance from the end of the one before, its length, and the time in it, which
//! is less if it stands for several. Sparks are their time and the four counts.

use serde_json::{Map, Value, json};

use super::facts::TimelineFacts;
use gclab_eventlog::{HeapProfile, Lane, Mark, Pause, Sample, SparkSample, Stretch, Timeline};

/// The first number of a piece with several states.
const SEVERAL_STATES: u64 = gclab_eventlog::STATES as u64;
/// The first number of several pauses.
const SEVERAL_PAUSES: u64 = 3;

/// The data of the page, safe inside a `<script>`.
pub(super) fn json(facts: &TimelineFacts<'_>) -> String {
    let TimelineFacts { timeline, summary, .. } = facts;
    let caps: Vec<u16> = timeline.lanes.iter().map(|lane| lane.cap).collect();
    let lanes: Vec<Vec<u64>> = timeline.lanes.iter().map(pieces).collect();
    let allocated = timeline.lanes.iter().map(|lane| samples(&lane.allocated, timeline));
    let data = json!({
        "path": facts.path,
        "salvage": facts.damage.is_some(),
        "length": timeline.length,
        "step": timeline.step,
        "end": summary.total_ns.unwrap_or(timeline.length),
        "mutator": summary.mutator_span,
        "collects": summary.collections.is_some(),
        "generations": timeline.generations,
        "threads": timeline.has_threads,
        "caps": caps,
        "lanes": lanes,
        "allocated": allocated.collect::<Vec<_>>(),
        "pauses": pauses(&timeline.pauses),
        "looks": stretches(&timeline.looks),
        "concurrent": timeline.concurrent.each_ref().map(|each| stretches(each)),
        "size": samples(&timeline.heap_size, timeline),
        "live": samples(&timeline.live, timeline),
        "sparks": timeline.lanes.iter().map(|lane| sparks(&lane.sparks)).collect::<Vec<_>>(),
        "marks": timeline.marks.iter().map(mark).collect::<Vec<_>>(),
        "profile": timeline.profile.as_ref().map(profile),
    });
    // Markup cannot end the script early.
    data.to_string().replace('<', "\\u003c")
}

fn pieces(lane: &Lane) -> Vec<u64> {
    let mut numbers = Vec::with_capacity(2 * lane.pieces.len());
    for piece in &lane.pieces {
        if let Some(state) = piece.state() {
            numbers.extend([state as u64, piece.to - piece.from]);
            continue;
        }
        let present = || piece.times.iter().enumerate().filter(|(_, time)| **time > 0);
        let mask: u64 = present().map(|(state, _)| 1 << state).sum();
        numbers.push(SEVERAL_STATES + mask);
        numbers.extend(present().map(|(_, time)| *time));
    }
    numbers
}

fn pauses(pauses: &[Pause]) -> Vec<i64> {
    let mut numbers = Vec::with_capacity(4 * pauses.len());
    let mut end = 0;
    for pause in pauses {
        // Times are below 2^53, and sums of bytes beyond that are meaningless.
        numbers.extend([pause.from as i64 - end, (pause.to - pause.from) as i64]);
        end = pause.to as i64;
        let present = || pause.generations.iter().enumerate().filter(|(_, some)| some.count > 0);
        if pause.count() == 1 {
            numbers.extend(present().flat_map(|(generation, one)| [generation as i64, one.copied as i64]));
            continue;
        }
        let mask: u64 = present().map(|(generation, _)| 1 << generation).sum();
        numbers.push((SEVERAL_PAUSES + mask) as i64);
        numbers.extend(
            present().flat_map(|(_, some)| {
                [some.count, some.total_ns, some.max_ns, some.copied].map(|number| number as i64)
            }),
        );
    }
    numbers
}

fn stretches(stretches: &[Stretch]) -> Vec<i64> {
    let mut end = 0;
    let numbers = stretches.iter().flat_map(|one| {
        let before = std::mem::replace(&mut end, one.to as i64);
        [
            one.from as i64 - before,
            (one.to - one.from) as i64,
            one.total_ns as i64,
        ]
    });
    numbers.collect()
}

/// The columns of a series. The largest and the number are left out if every sample is one.
fn samples(samples: &[Sample], timeline: &Timeline) -> Value {
    let mut before = 0;
    let at = samples
        .iter()
        .map(|sample| sample.at - std::mem::replace(&mut before, sample.at));
    let mut columns = Map::new();
    columns.insert("at".to_owned(), at.collect());
    columns.insert("last".to_owned(), samples.iter().map(|sample| sample.last).collect());
    if timeline.step > 1 || samples.iter().any(|sample| sample.count > 1) {
        columns.insert("max".to_owned(), samples.iter().map(|sample| sample.max).collect());
        columns.insert("count".to_owned(), samples.iter().map(|sample| sample.count).collect());
    }
    Value::Object(columns)
}

fn sparks(samples: &[SparkSample]) -> Vec<u64> {
    let mut before = 0;
    let numbers = samples.iter().flat_map(|sample| {
        let step = sample.at - std::mem::replace(&mut before, sample.at);
        [
            step,
            sample.all.created,
            sample.all.converted,
            sample.all.fizzled,
            sample.pool,
        ]
    });
    numbers.collect()
}

fn mark(mark: &Mark) -> Value {
    json!([mark.at, u8::from(mark.is_marker), mark.count, mark.text])
}

fn profile(profile: &HeapProfile) -> Value {
    json!({
        "breakdown": profile.breakdown,
        "bands": profile.bands,
        "others": profile.others,
        "at": profile.censuses.iter().map(|census| census.at).collect::<Vec<_>>(),
        "bytes": profile.censuses.iter().map(|census| &census.bytes).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use gclab_eventlog::{Collections, Piece, Sparks, Summary};

    #[test]
    fn entries_that_stand_for_several_have_the_sums_of_each() {
        let several = [5, 0, 0, 0, 7, 0, 0, 2, 0];
        let single = [0, 0, 0, 30, 0, 0, 0, 0, 0];
        let piece = |from, to, times| Piece { from, to, times };
        let collections = |count, total_ns, max_ns, copied| Collections {
            count,
            total_ns,
            max_ns,
            copied,
        };
        let none = Collections::default();
        let sample = |at, last, max, count| Sample { at, last, max, count };
        let look = |from, to, total_ns| Stretch { from, to, total_ns };
        let spark_sample = |at, created| SparkSample {
            at,
            all: Sparks {
                created,
                converted: 2,
                fizzled: 1,
                ..Sparks::default()
            },
            pool: 4,
        };
        let timeline = Timeline {
            length: 44,
            step: 16,
            lanes: vec![Lane {
                cap: 3,
                pieces: vec![piece(0, 14, several), piece(14, 44, single)],
                allocated: vec![sample(10, 100, 100, 2), sample(40, 150, 150, 1)],
                sparks: vec![spark_sample(10, 5), spark_sample(30, 6)],
            }],
            pauses: vec![
                Pause {
                    from: 2,
                    to: 6,
                    generations: [collections(1, 4, 4, 99), none, none],
                },
                Pause {
                    from: 8,
                    to: 15,
                    generations: [collections(2, 4, 3, 8), none, collections(1, 2, 2, 9)],
                },
            ],
            looks: vec![look(15, 18, 3), look(20, 30, 4)],
            concurrent: [vec![look(1, 9, 8)], vec![]],
            heap_size: vec![sample(6, 7, 9, 3)],
            ..Timeline::default()
        };
        let summary = Summary::default();
        let facts = TimelineFacts {
            file: "a",
            path: Some("a<b"),
            timeline: &timeline,
            summary: &summary,
            damage: Some("cut off".to_owned()),
        };
        let text = json(&facts);
        assert!(text.contains(r#""path":"a\u003cb""#), "{text}");
        let data: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(data["salvage"], true);
        // States 0, 4 and 7: 9 + 1 + 16 + 128.
        assert_eq!(data["lanes"], json!([[154, 5, 7, 2, 3, 30]]));
        // Generations 0 and 2: 3 + 1 + 4. The second pause starts 2 ns after the end of the first.
        assert_eq!(data["pauses"], json!([2, 4, 0, 99, 2, 7, 8, 2, 4, 3, 8, 1, 2, 2, 9]));
        assert_eq!(data["looks"], json!([15, 3, 3, 2, 10, 4]));
        assert_eq!(data["concurrent"], json!([[1, 8, 8], []]));
        assert_eq!(
            data["size"],
            json!({ "at": [6], "last": [7], "max": [9], "count": [3] })
        );
        assert_eq!(data["allocated"][0]["at"], json!([10, 30]));
        assert_eq!(data["sparks"], json!([[10, 5, 2, 1, 4, 20, 6, 2, 1, 4]]));
        assert_eq!((&data["step"], &data["caps"]), (&json!(16), &json!([3])));
    }
}
