/** Where the version stands besides package.json: the file, and the pattern whose one group is the version. */
export const STATED_VERSIONS: readonly (readonly [file: string, RegExp])[] = [
  ['package-lock.json', /^ {2}"version": "(.+)",$/m],
  ['package-lock.json', /^ {6}"version": "(.+)",$/m],
  ['client/package.json', /^ {2}"version": "(.+)",$/m],
  ['client/version.ts', /^export const VERSION = '(.+)';$/m],
  ['client/python/holdfast/__init__.py', /^__version__ = "(.+)"$/m],
  ['docs/clients.md', /holdfast-client-(.+)\.tgz/],
  ['CHANGELOG.md', /^## \[(\d.*)\] - \d{4}-\d\d-\d\d$/m],
];
