// delegations networks: shows the state of every chain.

import { NETWORKS_OPERATION } from '../api/operations.ts';
import type { NetworkRecord } from '../api/responses.ts';
import { urlFor } from '../api/url.ts';
import { UsageError } from '../service/usage-error.ts';
import type { Command } from './command.ts';
import { dateOf, tableOf, writeOut } from './output.ts';
import { jsonOf, NO_SERVICE, SOURCE_ABOUT, SOURCE_OPTIONS, withSource } from './query-target.ts';

export const networks: Command = {
  name: 'networks',
  summary: 'show the state of every chain',
  about: `Shows the newest block, the lag and the readiness of every chain.
Exit code: 0 all chains are ready, 1 some are not, 2 error.

${SOURCE_ABOUT}`,
  options: { json: { about: 'print everything as JSON' }, ...SOURCE_OPTIONS },
  examples: ['delegations networks --url http://localhost:8080', 'delegations networks --json'],
  run: (call) =>
    withSource(call, async (ask) => {
      const all = await jsonOf<NetworkRecord[]>(await ask(urlFor(NETWORKS_OPERATION, {})));
      if (!Array.isArray(all)) throw new UsageError(NO_SERVICE);
      const text = all.length === 0 ? 'No chains yet.' : tableOf(NAMES, all.map(cellsOf));
      if (all.length === 0 || all.some(({ ready }) => !ready)) process.exitCode = 1;
      await writeOut(`${call.isSet('json') ? JSON.stringify(all) : text}\n`);
    }),
};

const NAMES = ['CHAIN', 'NAME', 'READY', 'BLOCK', 'FINAL', 'LAG', ''];

function cellsOf(network: NetworkRecord) {
  const { chainId, name, ready, head, chainBlock, finalizedBlock, lagSeconds, halt, progress } = network;
  const share = progress !== null && progress.share < 0.9999 ? `${(100 * progress.share).toFixed(1)} % indexed` : '';
  return [
    String(chainId),
    name ?? '',
    ready ? 'yes' : 'no',
    head === null ? '–' : `${head.number}${chainBlock === null || ready ? '' : ` of ${chainBlock}`}`,
    finalizedBlock === null ? '–' : String(finalizedBlock),
    lagSeconds === null ? '–' : `${Math.round(lagSeconds)} s`,
    [noteOf(halt, network.clockBehindSeconds) ?? share, ...followerNotes(progress)].filter(Boolean).join('; '),
  ];
}

const noteOf = (halt: NetworkRecord['halt'], clockBehindSeconds: number): string | null => {
  if (halt !== null) return `halted: ${halt.code} since ${dateOf(halt.since)}. ${halt.cause} ${halt.help}`;
  return clockBehindSeconds === 0 ? null : `clock ${clockBehindSeconds} s behind the chain: check NTP`;
};

function followerNotes(progress: NetworkRecord['progress']): string[] {
  const { failing = null, providers = [] } = progress ?? {};
  return [
    ...(failing === null ? [] : [`follower failing: ${failing.cause} since ${dateOf(failing.since)}`]),
    ...providers.flatMap(({ name, cause }) => (cause === null ? [] : `provider ${name} unhealthy: ${cause}`)),
  ];
}
