import { bundledVerifier } from './bundle-verifier.ts';
import { formattedApiTypes } from './formatted-api-types.ts';

await Bun.write(`${import.meta.dir}/src/api.ts`, formattedApiTypes());
await Bun.write(`${import.meta.dir}/src/verify.js`, await bundledVerifier());
