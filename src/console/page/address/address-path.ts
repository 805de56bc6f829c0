// The request of a view of an address.

export function addressPath(ip: string, members: Readonly<Record<string, string>>): string {
  const query = new URLSearchParams({ ip })
  for (const [name, value] of Object.entries(members)) if (value !== '') query.set(name, value)
  return `/admin/address?${query}`
}
