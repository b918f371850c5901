/** What the dashboard has more where a browser runs scripts. Without them everything is reached all the same. */
import { readCharts } from './chart-reader.js';
import { changeInPlace } from './lists.js';

changeInPlace();
readCharts();
