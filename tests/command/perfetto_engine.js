// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Runs the trace processor of Perfetto's web page in Node: node perfetto_engine.js FOLDER, the folder with
// engine_bundle.js. Reads requests from stdin and writes answers to stdout, each behind its length in four bytes.
const fs = require('fs');
const path = require('path');
const vm = require('vm');

const folder = process.argv[2];
const fileOf = url => fs.readFileSync(path.join(folder, path.basename(String(url))));
const node = process;

// What the bundle expects of a web worker.
globalThis.self = globalThis;
globalThis.location = {href: `file://${folder}/engine_bundle.js`};
globalThis.WorkerGlobalScope = function () {};
globalThis.importScripts = () => {};
globalThis.fetch = async url => new Response(fileOf(url), {headers: {'Content-Type': 'application/wasm'}});
globalThis.XMLHttpRequest = class {
  open(method, url) {
    this.url = url;
  }
  overrideMimeType() {}
  send() {
    const file = fileOf(this.url);
    this.response = file.buffer.slice(file.byteOffset, file.byteOffset + file.length);
    this.status = 200;
    this.onload?.();
  }
};
globalThis.process = undefined; // otherwise the bundle takes itself for a program of Node
vm.runInThisContext(fs.readFileSync(path.join(folder, 'engine_bundle.js'), 'utf8'));
globalThis.process = node;

const port = {
  postMessage(bytes) {
    const length = Buffer.alloc(4);
    length.writeUInt32LE(bytes.length);
    fs.writeSync(1, Buffer.concat([length, Buffer.from(bytes)]));
  },
};
globalThis.onmessage({data: port});

// The engine compiles for some seconds, and tells nobody when it is ready: the first request fails until then.
const requests = fs.readFileSync(0);
function answer() {
  let at = 0;
  try {
    while (at < requests.length) {
      const length = requests.readUInt32LE(at);
      port.onmessage({data: new Uint8Array(requests.subarray(at + 4, at + 4 + length))});
      at += 4 + length;
    }
  } catch (error) {
    if (at > 0 || node.uptime() > 60) {
      throw error;
    }
    setTimeout(answer, 200);
    return;
  }
  node.exit(0);
}
setTimeout(answer, 200);
