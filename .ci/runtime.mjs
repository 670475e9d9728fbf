/**
 * After npm ci: the Node that runs everything must be there. It comes as an optional package, one for each platform,
 * which npm leaves out without a word when the registry does not serve it or its content does not have the hash in
 * package-lock.json. Plain JavaScript, since what runs this may be an older Node.
 */
const MAJOR = 24;

if (Number.parseInt(process.versions.node, 10) < MAJOR) {
  process.stderr.write(
    `holdfast needs Node ${MAJOR}; this is ${process.version}. npm did not install the one of ` +
      `${process.platform} ${process.arch}: the registry does not serve it, or what it serves does not have the hash ` +
      'in package-lock.json.\n',
  );
  process.exitCode = 1;
}
