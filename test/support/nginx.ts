// Runs a real nginx with a configuration file of deploy/, in front of a server on this machine.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../src/sandbox/free-port.ts';
import { temporaryPath } from './engines.ts';
import { eventually } from './live-chain.ts';
import { findProgram } from './programs.ts';

export async function startNginx(file: string, ...upstreamPorts: readonly number[]) {
  const folder = temporaryPath('nginx');
  mkdirSync(folder, { recursive: true });
  const port = freePort();
  const server = readFileSync(join(import.meta.dir, '../../deploy', file), 'utf8')
    // Debian's nginx cannot resolve the servers of an upstream again.
    .replace(/(^ {2}server \S+:\d+.*;\n)+/m, (lines) => {
      const options = (lines.split('\n')[0] ?? '').trim().replace(/^server \S+|resolve|;$/g, '');
      return upstreamPorts.map((port) => `  server 127.0.0.1:${port} ${options};\n`).join('');
    })
    .replace(/listen \d+;/, `listen 127.0.0.1:${port};`)
    .replace('error_log stderr crit;', `error_log ${folder}/error.log crit;`);
  const config = join(folder, 'nginx.conf');
  writeFileSync(
    config,
    `worker_processes 1; daemon off; pid ${folder}/nginx.pid; error_log ${folder}/error.log;
${process.getuid?.() === 0 ? 'user root;' : ''}
events { worker_connections 1024; }
http {
client_body_temp_path ${folder}; proxy_temp_path ${folder}; fastcgi_temp_path ${folder};
uwsgi_temp_path ${folder}; scgi_temp_path ${folder};
${server}
}
`,
  );
  const child = Bun.spawn([findProgram('nginx'), '-c', config, '-e', join(folder, 'error.log')], { stderr: 'inherit' });
  const url = `http://127.0.0.1:${port}`;
  await eventually('nginx answers', async () => (await fetch(`${url}/health`)).status > 0);
  return {
    url,
    async stop() {
      child.kill('SIGTERM');
      await child.exited;
    },
  };
}
