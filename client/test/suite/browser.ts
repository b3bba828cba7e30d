// Lets a page run the suite.

import { runSuite } from './suite.ts';

Object.assign(globalThis, { runSuite });
