import { tmpdir } from 'node:os';
import { updateIndex } from '../src/warehouse/log/update-index.js';
import { engineOptions, MEMORY_LIMIT } from './generated-nights.js';

/** Brings the index of a warehouse's markers up to date as a sync on a date does. Arguments: its folder, the date. */
const [warehouse = '', date = ''] = process.argv.slice(2);
await updateIndex(warehouse, { ...engineOptions(tmpdir()), memoryLimit: MEMORY_LIMIT }, Date.parse(date));
