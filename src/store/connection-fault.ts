// Why a server cannot be reached: the driver only says that it could not connect.

import { connect } from 'node:net';

const PROBE_MS = 2000;

/** The host and port of the URL, and the system's error if no connection is accepted there. */
export function connectionFault(url: string, defaultPort: number): Promise<string> {
  const { hostname, port } = new URL(url);
  const [host, at] = [hostname.replace(/^\[|\]$/g, '') || 'localhost', Number(port || defaultPort)];
  const where = `${hostname || 'localhost'}:${at}`;
  return new Promise((resolve) => {
    const socket = connect({ host, port: at, timeout: PROBE_MS });
    const end = (fault: string) => {
      socket.destroy();
      resolve(`${where}${fault}`);
    };
    socket.on('connect', () => end(''));
    socket.on('timeout', () => end(': ETIMEDOUT'));
    socket.on('error', (error: NodeJS.ErrnoException) => end(`: ${error.code ?? error.message}`));
  });
}
