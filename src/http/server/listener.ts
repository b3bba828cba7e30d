// Shared by the API server and the metrics server.

import type { Server } from 'bun';

export interface RunningServer {
  readonly url: string;
  /** Stops accepting requests and waits for those in flight. */
  stop(): Promise<void>;
}

/** Waits this many seconds for requests in flight, and cuts off the others. */
export async function drain(server: Server<unknown>, seconds: number): Promise<void> {
  // Stops accepting connections. Not awaited, because that would wait for idle keep-alive connections.
  void server.stop();
  const deadline = performance.now() + 1000 * seconds;
  while (server.pendingRequests > 0 && performance.now() < deadline) await Bun.sleep(10);
  await server.stop(true);
}

/** The address or port cannot be used. The message names the variables that set them. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
}

/** Calls Bun.serve; its errors name neither the host nor the variable. */
export function listen<S>(serve: () => S, address: ListenAddress): S {
  try {
    return serve();
  } catch (error) {
    throw listenError(error, address);
  }
}

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
  /** The variables that set them. */
  readonly names: readonly [host: string, port: string];
}

function listenError(error: unknown, { host, port, names: [hostName, portName] }: ListenAddress): unknown {
  const { code, message } = error as { code?: string; message: string };
  if (code === undefined) return error;
  const noAddress = `${hostName}=${host}: this machine does not have that address. Example: ${hostName}=0.0.0.0`;
  const texts: Readonly<Record<string, string>> = {
    EADDRINUSE: `${portName}=${port}: the port is already in use on ${host}. Set ${portName} to another one.`,
    EACCES: `${portName}=${port}: ports below 1024 need privileges. Set ${portName} to a higher one.`,
    EADDRNOTAVAIL: noAddress,
    ENOTFOUND: noAddress,
  };
  return new ListenError(texts[code] ?? `${hostName}=${host}, ${portName}=${port}: ${message}`);
}

/** Puts an IPv6 address in brackets. */
export const serverUrl = ({ hostname = '', port = 0 }: Partial<Pick<Server<unknown>, 'hostname' | 'port'>>) =>
  `http://${hostname.includes(':') ? `[${hostname}]` : hostname}:${port}`;
