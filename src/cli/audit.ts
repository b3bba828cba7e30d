// delegations audit: compares an index with its chain, and changes nothing.

import { type AuditReport, auditIndex } from '../service/audit-index.ts';
import { readConfig } from '../service/config.ts';
import { showStatus } from '../service/status-line.ts';
import { UsageError } from '../service/usage-error.ts';
import { openStore } from '../store/open.ts';
import { type Command, type Invocation, requireNetwork } from './command.ts';
import { writeOut } from './output.ts';

export const audit: Command = {
  name: 'audit',
  summary: 'compare an index with its chain',
  usage: '--chain <id> [options]',
  about: `Reads the registry logs of final blocks from a provider and compares them with the index, one by one. Then asks the registry
about a sample of wallet pairs and whole lists, and compares its answers with those of the index. Changes nothing. A service
can keep running on the same database.

Requires DATABASE_URL and RPC_URL_<id>. Exit code: 0 no differences, 1 differences found, 2 error.`,
  options: {
    chain: { value: '<id>', about: 'chain id' },
    pairs: { value: '<number>', about: 'number of questions to ask the registry [1000]' },
    from: { value: '<block>', about: 'first block [first indexed block]' },
    to: { value: '<block>', about: 'last block [newest final block]' },
    json: { about: 'print the report as JSON' },
  },
  examples: ['RPC_URL_1=https://node.example delegations audit --chain 1 --pairs 10000'],
  run: runAudit,
};

async function runAudit(call: Invocation): Promise<void> {
  const network = requireNetwork(call);
  const [from, to, pairs = 1000] = [call.number('from'), call.number('to'), call.number('pairs')];
  const config = readConfig(call.environment);
  const rpcUrls = config.chains.get(network.chainId)?.rpcUrls;
  if (rpcUrls === undefined)
    throw new UsageError(`RPC_URL_${network.chainId} is missing. Set it to the provider to compare with.`);
  const store = await openStore(config.databaseUrl, { readOnly: true });
  try {
    const onProgress = (block: number, last: number, logs: number) =>
      showStatus(block === last ? '' : `block ${block} of ${last}, ${logs} logs`);
    const report = await auditIndex({ network, rpcUrls, store, from, to, pairs, onProgress });
    if (report.missing + report.surplus + report.wrong.length > 0) process.exitCode = 1;
    await writeOut(call.isSet('json') ? `${JSON.stringify(report)}\n` : formatReport(report));
  } finally {
    await store.close();
  }
}

const formatReport = ({ chainId, from, to, logs, missing, surplus, pairs, lists, wrong }: AuditReport) =>
  `Chain ${chainId}, blocks ${from} to ${to}
  logs     ${logs} compared: ${missing} missing from the index, ${surplus} only in the index
  answers  ${pairs} pairs and ${lists} lists compared: ${wrong.length} different
${wrong.map((one) => `           ${one}\n`).join('')}`;
