// Runs the suite in workerd: a request has the servers as its body, and the response has the results.

import { runSuite, type Servers } from './suite.ts';

export default {
  fetch: async (request: Request) => Response.json(await runSuite((await request.json()) as Servers)),
};
