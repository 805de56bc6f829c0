// The request of a view as a command for a shell. What is not ours stands in single quotes.

export function curlCommand(origin: string, path: string): string {
  const url = quoted(`${origin}${path}`)
  return `curl -s ${url} -H "Authorization: Bearer $IPRISK_ADMIN_TOKEN"`
}

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`
