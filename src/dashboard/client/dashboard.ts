/** What the dashboard has more where a browser runs scripts. Without them everything is reached all the same. */
import { changeInPlace } from './lists.js';

changeInPlace();
