// Loaded into a measured process: tells its peak memory, in kB, to the file that PEAK_MEMORY_FILE names.
const { writeFileSync } = require('node:fs');
process.on('exit', () => writeFileSync(process.env.PEAK_MEMORY_FILE, String(process.resourceUsage().maxRSS)));
