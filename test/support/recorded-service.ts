// Runs any form of the program on a recorded chain: from the sources, a package, an executable or an image.

import { checkUrl } from '../../src/api/url.ts';
import { asksBalance } from '../../src/registry/check.ts';
import { eventually } from './eventually.ts';
import { startFakeNode } from './fake-node.ts';
import { everyQuestion, trueAnswers } from './questions.ts';
import { replayOf } from './replay.ts';
import { LOCAL, startListening } from './serve-process.ts';
import { RECORDINGS } from './vectors.ts';

/** Resolves when the recording is indexed. The environment must have DATABASE_URL. */
export async function serveRecording(
  command: readonly string[],
  options: { readonly environment: Record<string, string>; readonly folder: string },
) {
  const [recording] = RECORDINGS;
  const checkpoint = recording?.checkpoints.at(-2);
  if (recording === undefined || checkpoint === undefined) throw new Error('no recording');
  const block = checkpoint.blockNumber;
  const node = startFakeNode(replayOf(recording));
  const served = await startListening(command, {
    folder: options.folder,
    environment: {
      ...LOCAL,
      RPC_URL_1: node.url,
      START_BLOCK_1: String(recording.blocks[0]?.number),
      FINALITY_1: '1 blocks',
      POLL_INTERVAL_1: '100',
      ...options.environment,
    },
  });
  const stop = async () => {
    const code = await served.stop();
    await node.stop();
    return code;
  };
  try {
    await eventually('followed', async () => {
      const [network] = (await (await fetch(`${served.url}/networks`)).json()) as { finalizedBlock: number | null }[];
      return (network?.finalizedBlock ?? 0) >= block;
    });
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    ...served,
    stop,
    /** Compares answers at a final block with those of the contracts. */
    async compareAnswers() {
      const truths = trueAnswers(checkpoint);
      const asked = everyQuestion(recording).filter((_, turn) => turn % 7 === 0);
      let wrong = 0;
      for (const { question, name } of asked) {
        const response = await fetch(`${served.url}${checkUrl(question, { block })}`);
        const truth = String(truths.get(name) ?? (asksBalance(question) ? 0n : false));
        if (response.status !== 200 || (await response.text()) !== truth) wrong++;
      }
      return { asked: asked.length, wrong };
    },
  };
}
