/** Says of a path that has no route what is wrong with it, in a sentence; the path itself is not repeated. */
export type ExplainPath = (path: string) => string;

/** Explains with the paths of the routes, with their parameters in braces. */
export function explainUnknownPath(paths: readonly string[]): ExplainPath {
  const patterns = paths.map((path) => ({ path, pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`, 'i') }));
  return (path) => {
    const bare = path.replace(/\/+$/, '');
    const meant = patterns.find(({ pattern }) => pattern.test(bare));
    if (meant === undefined) return 'There is no such path. The routes are listed at /docs.';
    const fault = bare === path ? 'Paths are written exactly so' : 'The path has no slash at its end';
    return `${fault}: ${meant.path}. The routes are listed at /docs.`;
  };
}
