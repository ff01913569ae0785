// Writes two V8 heap snapshots, of some 400 MB each, of a program whose sessions grow in number:
// node --max-old-space-size=8000 snapshots.js FOLDER
const v8 = require('v8');

class Session {
  constructor(id) {
    this.user = { name: `user ${id}`, tags: [id, id + 1] };
    this.seen = new Date(id);
  }
}

const sessions = new Map();

function grow(to) {
  for (let id = sessions.size; id < to; id++) sessions.set(`session ${id}`, new Session(id));
}

const folder = process.argv[2];
grow(700_000);
v8.writeHeapSnapshot(`${folder}/a.heapsnapshot`);
grow(740_000);
v8.writeHeapSnapshot(`${folder}/b.heapsnapshot`);
