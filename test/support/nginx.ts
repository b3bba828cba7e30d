// Runs a real nginx, with a configuration file of deploy/ or another.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../src/sandbox/free-port.ts';
import { temporaryPath } from './engines.ts';
import { eventually } from './eventually.ts';
import { findProgram } from './programs.ts';

/** Runs it with the `http` block that is made for a port. The folder gets its files. */
export async function runNginx(folder: string, httpAt: (port: number) => string) {
  mkdirSync(folder, { recursive: true });
  const port = freePort();
  const config = join(folder, 'nginx.conf');
  writeFileSync(
    config,
    `worker_processes 1; daemon off; pid ${folder}/nginx.pid; error_log ${folder}/error.log;
${process.getuid?.() === 0 ? 'user root;' : ''}
events { worker_connections 1024; }
http {
client_body_temp_path ${folder}; proxy_temp_path ${folder}; fastcgi_temp_path ${folder};
uwsgi_temp_path ${folder}; scgi_temp_path ${folder};
${httpAt(port)}
}
`,
  );
  const child = Bun.spawn([findProgram('nginx'), '-c', config, '-e', join(folder, 'error.log')], { stderr: 'inherit' });
  const url = `http://127.0.0.1:${port}`;
  await eventually('nginx answers', async () => (await fetch(`${url}/health`)).status > 0, { child });
  return {
    url,
    pid: child.pid,
    async stop() {
      child.kill('SIGTERM');
      await child.exited;
    },
  };
}

/** In front of servers on this machine, with a file of deploy/. */
export function startNginx(file: string, ...upstreamPorts: readonly number[]) {
  const folder = temporaryPath('nginx');
  const text = readFileSync(join(import.meta.dir, '../../deploy', file), 'utf8')
    // Debian's nginx cannot resolve the servers of an upstream again.
    .replace(/(^ {2}server \S+:\d+.*;\n)+/m, (lines) => {
      const options = (lines.split('\n')[0] ?? '').trim().replace(/^server \S+|resolve|;$/g, '');
      return upstreamPorts.map((port) => `  server 127.0.0.1:${port} ${options};\n`).join('');
    })
    .replace('error_log stderr crit;', `error_log ${folder}/error.log crit;`);
  return runNginx(folder, (port) => text.replace(/listen \d+;/, `listen 127.0.0.1:${port};`));
}
