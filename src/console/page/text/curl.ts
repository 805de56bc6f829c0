// A view's request as a shell command.

export function curlCommand(origin: string, path: string): string {
  const url = quoted(`${origin}${path}`)
  return `curl -s ${url} -H "Authorization: Bearer $IPRISK_ADMIN_TOKEN"`
}

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`
