// Runs the suite in Node and Bun: takes the servers as an argument, and prints the results.

import { runSuite, type Servers } from './suite.ts';

const servers: Servers = JSON.parse(process.argv[2] ?? '');
console.log(JSON.stringify(await runSuite(servers)));
// A case that did not end would keep the process.
process.exit();
