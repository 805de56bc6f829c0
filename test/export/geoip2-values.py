# python3-geoip2 as any program uses it: of each address on standard input a JSON array of what the
# files say: anonymous-ip, city, asn, country, anonymous-plus, residential-proxy; null where they say
# nothing. The last two by its reader of records, for Debian's version has no names for their members.

import json
import sys

import geoip2.database
import geoip2.errors
import maxminddb

anonymous, city, asn, country = (geoip2.database.Reader(path) for path in sys.argv[1:5])
plus, residential_proxy = (maxminddb.open_database(path) for path in sys.argv[5:7])


def residential(found):
    # Versions before 4 know no such member, but hand over what the file says.
    if hasattr(found, "is_residential_proxy"):
        return found.is_residential_proxy
    return found.raw.get("is_residential_proxy", False)


def asked(ask, address, read):
    try:
        return read(ask(address))
    except geoip2.errors.AddressNotFoundError:
        return None


for line in sys.stdin:
    address = line.rstrip("\n")
    print(
        json.dumps(
            [
                asked(
                    anonymous.anonymous_ip,
                    address,
                    lambda found: [
                        found.is_anonymous,
                        found.is_anonymous_vpn,
                        found.is_hosting_provider,
                        found.is_public_proxy,
                        residential(found),
                        found.is_tor_exit_node,
                    ],
                ),
                asked(
                    city.city,
                    address,
                    lambda found: [
                        found.country.iso_code,
                        found.continent.code,
                        found.subdivisions.most_specific.name,
                        found.city.name,
                        found.postal.code,
                        found.location.latitude,
                        found.location.longitude,
                        found.location.time_zone,
                    ],
                ),
                asked(
                    asn.asn,
                    address,
                    lambda found: [
                        found.autonomous_system_number,
                        found.autonomous_system_organization,
                    ],
                ),
                asked(
                    country.country,
                    address,
                    lambda found: [found.country.iso_code, found.continent.code],
                ),
                plus.get(address),
                residential_proxy.get(address),
            ]
        )
    )
