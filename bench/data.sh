# To be sourced: makes $data, the contacts and events of the sizes that the arguments do not
# leave out. They are the same in every run and made once. Needs bench/python.sh.
data="${CARGO_TARGET_DIR:-target}/bench/segments"
make_data() { # make_data SIZE CONTACTS EVENTS
  [ -e "$data/$1/done" ] && return
  echo "==> data: $1" >&2
  make_python bench/peers/requirements.txt
  rm -rf "${data:?}/$1"
  "$python" bench/peers/segments/data.py "$2" "$3" "$data/$1"
}
case " $* " in *[\ =]large\ *|*[\ =]none\ *) ;; *) make_data small 100000 2000000 ;; esac
case " $* " in *[\ =]small\ *|*[\ =]none\ *) ;; *) make_data large 1000000 20000000 ;; esac
