// Reads the URL of a webhook's receiver. A name is resolved and checked only when a delivery connects.

import { isIP } from 'node:net';
import { Fault } from '../api/params.ts';
import { isAllowedAddress, type Networks } from './networks.ts';

export interface TargetRules {
  /** Networks that are allowed although they are not public. */
  readonly networks: Networks;
  readonly allowsHttp: boolean;
}

export const MAX_URL_LENGTH = 2048;
const VISIBLE_ASCII = /^[!-~]+$/;

/** The URL parser turns every spelling of an IPv4 address into the dotted one. */
export function readTarget(text: string, { networks, allowsHttp }: TargetRules): URL | Fault {
  if (text.length > MAX_URL_LENGTH) return new Fault(`must have at most ${MAX_URL_LENGTH} characters`);
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol !== 'https:' && !(allowsHttp && url?.protocol === 'http:'))
    return new Fault(`must be a URL with https${allowsHttp ? ' or http' : ''}, such as https://example.com/webhook`);
  if (!VISIBLE_ASCII.test(text)) return new Fault('must not contain spaces, control characters or unencoded letters');
  if (url.username !== '' || url.password !== '') return new Fault('must not contain a user name or password');
  if (text.includes('#')) return new Fault('must not contain a fragment');
  if (url.port === '0') return new Fault('must not have port 0');
  const host = hostOf(url);
  if (isIP(host) !== 0 && !isAllowedAddress(host, networks)) return new Fault('must be at a public address');
  return url;
}

/** A name without its final dot, or an address without brackets. */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[(.+)\]$/, '$1').replace(/\.$/, '');
