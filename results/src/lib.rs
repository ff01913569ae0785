//! What a run wrote down: records, statistics, tables, charts and the HTML report
