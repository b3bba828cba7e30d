/** Builds each variant of a statement once, by its arguments. */
export function once<Args extends readonly (string | number | boolean | undefined)[], T>(
  build: (...args: Args) => T,
): (...args: Args) => T {
  const built = new Map<string, T>();
  return (...args) => {
    const name = args.join();
    let found = built.get(name);
    if (found === undefined) {
      found = build(...args);
      built.set(name, found);
    }
    return found;
  };
}
