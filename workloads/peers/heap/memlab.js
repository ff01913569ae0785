// Reads a heap snapshot and computes its dominators with memlab, which .ci/memlab installs.
const { getFullHeapFromFile } = require('../../../target/memlab/node_modules/@memlab/heap-analysis');

getFullHeapFromFile(process.argv[2]).then(heap => console.log(heap.nodes.length, 'objects'));
