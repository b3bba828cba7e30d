import { expect, test } from 'bun:test';

test('comes where the program that started this one was gone before anybody waited for it', async () => {
  const script = `
    import { stopSignal } from '${import.meta.dir}/stop-signal.ts';
    process.on('message', () => {});
    process.send('started');
    while (process.connected) await Bun.sleep(5);
    setTimeout(() => process.exit(1), 5000);
    await stopSignal(() => {});
    process.exit(0);`;
  const child = Bun.spawn([process.execPath, '-e', script], { ipc: (_message, one) => one.disconnect() });
  expect(await child.exited).toBe(0);
});
