// npm run openapi: writes the document that is committed.

import { openApiText } from './openapi.ts';

await Bun.write(`${import.meta.dir}/../../openapi.json`, openApiText());
