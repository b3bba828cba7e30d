// Lists a process and all its descendants. Linux only: elsewhere the list is empty.

import { readdirSync, readFileSync } from 'node:fs';

export function treeOf(root: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of process.platform === 'linux' ? readdirSync('/proc') : []) {
    if (!/^\d+$/.test(name)) continue;
    const parent = parentOf(name);
    children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const tree = process.platform === 'linux' ? [root] : [];
  for (const pid of tree) tree.push(...(children.get(pid) ?? []));
  return tree;
}

function parentOf(name: string): number {
  try {
    const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    // The process exited in the meantime.
    return 0;
  }
}
