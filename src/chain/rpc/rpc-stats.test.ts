import { expect, test } from 'bun:test';
import { RpcError } from './rpc.ts';
import { createRpcStats } from './rpc-stats.ts';

test('calls are counted by outcome, and requests by the bucket that their duration is in', () => {
  const { stats, listener } = createRpcStats();
  const { onCall, onRequest } = listener('1/1');
  for (const error of [null, new RpcError('malformed', 'no JSON'), null]) onCall('eth_getLogs', error);
  const ends = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20];
  for (const seconds of ends) for (const more of [-0.001, 0]) onRequest(seconds + more);
  onRequest(20.001);
  expect(stats['1/1']?.calls).toEqual({ eth_getLogs: { ok: 2, 'bad-response': 1 } });
  expect(stats['1/1']?.latency).toMatchObject({ counts: ends.map(() => 2), total: 23 });
});
