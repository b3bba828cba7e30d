// Writes the output of commands.

import { writeSync } from 'node:fs';
import { UsageError } from '../service/usage-error.ts';

const STDOUT = 1;

/** Resolves once everything is written. A command that has an exit code sets it first: the reader may close the pipe. */
export async function writeOut(output: string | Uint8Array): Promise<void> {
  const bytes = typeof output === 'string' ? Buffer.from(output) : output;
  for (let done = 0; done < bytes.length; ) {
    try {
      done += writeSync(STDOUT, bytes, done);
    } catch (error) {
      // The pipe is full and non-blocking: try again.
      if ((error as { code?: string }).code !== 'EAGAIN') throw error;
      await Bun.sleep(1);
    }
  }
}

/** For output that is useless in part: a closed pipe is an error. */
export async function writeWhole(output: string | Uint8Array): Promise<void> {
  await writeOut(output).catch((error) => {
    if ((error as { code?: string }).code !== 'EPIPE') throw error;
    throw new UsageError('The pipe was closed before the output was complete.');
  });
}
