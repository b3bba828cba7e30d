// The release notes: the section of a version in CHANGELOG.md.

/** In a dry run, a version without a section has the notes that are not released yet. */
export function notesOf(changelog: string, version: string, isDryRun: boolean): string {
  const sections = changelog.split(/^## /m).slice(1);
  const bodyOf = (isHeading: (heading: string) => boolean) =>
    sections
      .find((section) => isHeading(section.split('\n')[0] ?? ''))
      ?.replace(/^.*\n/, '')
      .trim();
  const notes =
    bodyOf((heading) => new RegExp(`^\\[?${RegExp.escape(version)}\\]?(\\s|$)`).test(heading)) ??
    (isDryRun ? bodyOf((heading) => /^\[?Unreleased\b/.test(heading)) : undefined);
  if (notes === undefined || notes === '')
    throw new Error(`CHANGELOG.md has no notes for ${version}. Rename "## Unreleased" to "## ${version}".`);
  return notes;
}
