import { formattedApiTypes } from './formatted-api-types.ts';

await Bun.write(`${import.meta.dir}/src/api.ts`, formattedApiTypes());
