export function randomLetters(alphabet: string, count: number): string {
  // The largest multiple of the alphabet in a byte: bytes from here on would favour the first letters.
  const fairBytes = 256 - (256 % alphabet.length)
  let letters = ''
  while (letters.length < count) {
    for (const byte of crypto.getRandomValues(new Uint8Array(count))) {
      if (byte < fairBytes && letters.length < count) letters += alphabet.charAt(byte % alphabet.length)
    }
  }
  return letters
}
