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
