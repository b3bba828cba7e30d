import { afterAll, describe, expect, test } from 'bun:test';
import { runCommand } from '../../test/support/serve-process.ts';

const asked: string[] = [];
const serve = () =>
  Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch({ url }) {
      const { pathname } = new URL(url);
      asked.push(pathname);
      return new Response('', { status: pathname === '/ready' ? 503 : 200 });
    },
  });
const [api, metrics] = [serve(), serve()];
afterAll(() => Promise.all([api.stop(true), metrics.stop(true)]));

const HERE = { PORT: String(api.port), METRICS_PORT: String(metrics.port), HTTP_PROXY: 'http://127.0.0.1:9' };

describe('delegations health', () => {
  test('asks /health on the loopback interface, past any proxy', async () => {
    expect(await runCommand(['health'], HERE)).toEqual({
      code: 0,
      stdout: `http://127.0.0.1:${api.port}/health answered 200\n`,
      stderr: '',
    });
  });

  test('asks /ready with --ready, and /metrics of a follower', async () => {
    expect(await runCommand(['health', '--ready'], HERE)).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('/ready answered 503'),
    });
    expect(await runCommand(['health', '--follower'], HERE)).toMatchObject({ code: 0 });
    expect(asked.slice(-2)).toEqual(['/ready', '/metrics']);
    expect(await runCommand(['health', '--follower', '--ready'], HERE)).toMatchObject({ code: 2 });
  });

  test('fails if nothing listens', async () => {
    expect(await runCommand(['health'], { PORT: '9' })).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('http://127.0.0.1:9/health did not answer: '),
    });
  });

  test('asks the configured address', async () => {
    for (const [host, origin] of [
      ['::', 'http://[::1]:9'],
      ['::1', 'http://[::1]:9'],
      ['127.0.0.2', 'http://127.0.0.2:9'],
    ] as const)
      expect((await runCommand(['health'], { HOST: host, PORT: '9' })).stdout).toStartWith(`${origin}/health `);
  });
});
