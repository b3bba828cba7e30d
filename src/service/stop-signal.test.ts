import { expect, test } from 'bun:test';

test('resolves when the parent process had exited before the call', async () => {
  const script = `
    import { waitForStopSignal } from '${import.meta.dir}/stop-signal.ts';
    process.on('message', () => {});
    process.send('started');
    while (process.connected) await Bun.sleep(5);
    setTimeout(() => process.exit(1), 5000);
    await waitForStopSignal(() => {});
    process.exit(0);`;
  const child = Bun.spawn([process.execPath, '-e', script], { ipc: (_message, one) => one.disconnect() });
  expect(await child.exited).toBe(0);
});

test('a process started with nohup ignores SIGHUP', async () => {
  const script = `
    import { waitForStopSignal } from '${import.meta.dir}/stop-signal.ts';
    await Promise.all([waitForStopSignal((level, message, { reason }) => console.log(reason)), console.log('waiting')]);
    process.exit(0);`;
  const child = Bun.spawn(['sh', '-c', 'trap "" HUP; exec "$0" -e "$1"', process.execPath, script], { stdout: 'pipe' });
  const reader = child.stdout.getReader();
  await reader.read();
  child.kill('SIGHUP');
  child.kill('SIGTERM');
  expect(new TextDecoder().decode((await reader.read()).value)).toBe('SIGTERM\n');
  expect(await child.exited).toBe(0);
});
