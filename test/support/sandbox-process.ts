// Starts the real sandbox as after a fresh clone.

import { MAIN } from './serve-process.ts';

export interface SandboxProcess {
  readonly child: Bun.Subprocess<'ignore', 'pipe', 'pipe'>;
  /** Everything that it has printed so far. */
  text(): string;
  /** Resolves when it has printed its introduction. */
  ready(): Promise<void>;
}

export function startSandbox(
  environment: Record<string, string> = {},
  program: readonly string[] = [process.execPath, MAIN],
): SandboxProcess {
  const child = Bun.spawn([...program, 'sandbox'], {
    env: { ...process.env, PORT: '0', ...environment },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  });
  let text = '';
  const read = async () => {
    for await (const chunk of child.stdout) text += new TextDecoder().decode(chunk);
  };
  void read();
  return {
    child,
    text: () => text,
    async ready() {
      for (let left = 600; !text.includes('Press Ctrl-C to stop'); left--) {
        if (left === 0 || child.exitCode !== null) throw new Error(`the sandbox did not start: ${text}`);
        await Bun.sleep(100);
      }
    },
  };
}
