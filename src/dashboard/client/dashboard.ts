/** What scripts add to the dashboard. Without them everything works, with more page loads. */
import { readCharts } from './chart-reader.js';
import { changeInPlace } from './lists.js';

changeInPlace();
readCharts();
