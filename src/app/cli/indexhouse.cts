#!/usr/bin/env node
// What npm links as `indexhouse`. Plain enough for a Node.js that is too old for the rest to read it, and say so.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`indexhouse: Node.js 20.19 or newer is needed; this is ${process.versions.node}.\n`);
  process.exitCode = 1;
} else {
  import('./main.js').catch((error) => {
    process.stderr.write(`indexhouse: ${error}\n`);
    process.exitCode = 1;
  });
}
