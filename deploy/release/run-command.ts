/** Returns what the command prints. Throws if it fails. */
export function run(cwd: string, ...command: string[]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { cwd, env: { ...process.env, NO_COLOR: '1' } });
  if (exitCode !== 0) throw new Error(`${command.slice(0, 3).join(' ')} failed: ${stdout}${stderr}`.slice(0, 3000));
  return stdout.toString();
}
