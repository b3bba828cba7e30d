// What commands write on standard output. Whoever reads it may go away in the middle: that is trouble, never a "no".

import { writeSync } from 'node:fs';

const STDOUT = 1;

/** Ends when all of it is written, and fails where it cannot be. */
export async function writeOut(output: string | Uint8Array): Promise<void> {
  const bytes = typeof output === 'string' ? Buffer.from(output) : output;
  for (let done = 0; done < bytes.length; ) {
    try {
      done += writeSync(STDOUT, bytes, done);
    } catch (error) {
      // A pipe that is full and was not to be waited for: it is ready again in a moment.
      if ((error as { code?: string }).code !== 'EAGAIN') throw error;
      await Bun.sleep(1);
    }
  }
}
